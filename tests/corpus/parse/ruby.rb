require "far/away"  #? import far/away
require_relative "near"  #? import ./near

module Shapes  #? module Shapes
  # A shape.
  class Shape < Base::Thing  #? class Shapes.Shape bases=Base::Thing doc="A shape."; inherit Base; inherit Thing on Base
    include Drawable  #? call include; inherit Drawable
    attr_reader :size, :name  #? field Shapes.Shape.size; field Shapes.Shape.name
    LIMIT = 3  #? constant Shapes.Shape.LIMIT

    def initialize(size, name = nil, *rest, unit: Unit.default, &block)  #? method Shapes.Shape.initialize; read Unit; call default on Unit
      @size = size
      local = compute(size, rest)  #? call compute
      local.each { |side| side.run(unit) }  #? call each on local; call run on side
      puts Shapes::Registry.new(1).full?  #? call puts; read Shapes; read Registry on Shapes; call new on Shapes.Registry; call full? on Shapes.Registry.new()
    end

    def self.build(size)  #? method Shapes.Shape.build static
      new(size)  #? call new
    end

    class << self
      def other; end  #? method Shapes.Shape.other
    end

    private

    def hidden  #? method Shapes.Shape.hidden private
      raise ArgumentError, "bad" unless size  #? call raise; read ArgumentError; read size
      helper  #? read helper
    end
  end

  def self.helper  #? method Shapes.helper static
    Shape.build(1)  #? read Shape; call build on Shape
  end
end

class Shapes::Circle < Shapes::Shape  #? class Shapes.Circle bases=Shapes::Shape; read Shapes; inherit Shapes; inherit Shape on Shapes
end

RSpec.describe Shapes::Shape do  #? test Shapes::Shape test; read RSpec; call describe on RSpec; read Shape on Shapes
  it "has a size" do  #? test Shapes::Shape.has·a·size test; call it
    expect(described_class.new(1).size).to eq(1)  #? call expect; read described_class; call new on described_class; call size on described_class.new(); call to on expect(); call eq
  end
end
