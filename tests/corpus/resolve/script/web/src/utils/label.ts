import { formatMoney, round, Purse } from '@shop/kit'; //! formatMoney; roundMoney; Purse

export const makeLabel = (value: number) => `${formatMoney(round(value))}`; //! formatMoney; roundMoney

export function weigh(purse: Purse) { //! Purse
  purse.shake(); //! Purse.shake
  const other = Purse.empty(); //! Purse; Purse.empty
  other.shake(); //! Purse.shake
  return purse.price(); //! Purse.price; Priced.price
}
