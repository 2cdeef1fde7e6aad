export function formatMoney(amount: number): string {
  return roundMoney(amount).toFixed(2); //! roundMoney
}

export const roundMoney = (amount: number) => Math.round(amount);

export interface Priced {
  price(): number;
}
