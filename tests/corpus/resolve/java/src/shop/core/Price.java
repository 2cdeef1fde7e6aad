package shop.core;

public interface Price {
    String format();

    static Price zero() { //! Price
        return new Zero(); //! Zero
    }

    class Zero implements Price { //! Price
        public String format() {
            return "0";
        }
    }
}
