package shop.ui;

import java.util.List;
import shop.core.*;
import static shop.core.Price.zero; //! Price.zero

public class Screen {
    void show(List<Item> items, Thing thing) { //! Item; Thing
        Item item = Item.of(zero()); //! Item; Item.of; Price.zero
        item.describe(); //! Item.describe
        thing.describe(); //! Thing.describe
        for (Item each : items) { //! Item
            each.describe(); //! Item.describe
        }
        describe();
        String label = "x";
        System.out.println(label);
    }

    void describe() {}
}
