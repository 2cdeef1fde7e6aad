import type { Priced } from './money'; //! Priced

export default class Purse implements Priced { //! Priced
  private coins = new CoinBox(); //! CoinBox

  price(): number {
    this.shake(); //! Purse.shake
    return this.coins.countCoins(); //! CoinBox.countCoins
  }

  shake(): void {}

  static empty(): Purse { //! Purse
    return new Purse(); //! Purse
  }
}

class CoinBox {
  countCoins(): number {
    return 0;
  }
}
