<?php
namespace Shop\Util;

class Clock
{
    public function tickOnce(): void
    {
    }

    public static function isLate(): bool
    {
        return false;
    }
}
