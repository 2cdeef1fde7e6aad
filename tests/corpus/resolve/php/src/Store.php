<?php
namespace Shop;

use Shop\Util\Clock; //! Clock

class Store
{
    public function saveItem(string $name): bool
    {
        $clock = new Clock(); //! Clock
        $clock->tickOnce(); //! Clock.tickOnce
        return $this->checkItem($name); //! Store.checkItem
    }

    private function checkItem(string $name): bool
    {
        return Clock::isLate(); //! Clock; Clock.isLate
    }
}
