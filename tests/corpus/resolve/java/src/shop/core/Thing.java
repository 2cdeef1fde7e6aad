package shop.core;

public abstract class Thing {
    public String describe() {
        return label(); //! Thing.label
    }

    protected String label() {
        return "";
    }
}
