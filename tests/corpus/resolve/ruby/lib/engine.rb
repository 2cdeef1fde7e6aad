module Shop
  class Engine
    def start_engine
      warm_up #! Engine.warm_up
      Logger.write_line("x") #! Logger; Logger.write_line
    end

    def warm_up
    end
  end

  class Turbo < Engine #! Engine
    def start_engine
      super
      warm_up #! Engine.warm_up
    end
  end
end
