package shop.core;

import java.util.List;

public class Item extends Thing { //! Thing
    private final Price price; //! Price
    static int count;

    public Item(Price price) { //! Price
        this.price = price;
        count++; //! Item.count
    }

    @Override
    public String describe() {
        label(); //! Thing.label
        return super.describe() + price.format(); //! Thing.describe; Price.format
    }

    public static Item of(Price price) { //! Item; Price
        return new Item(price); //! Item
    }
}
