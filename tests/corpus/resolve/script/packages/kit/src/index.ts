export * from './money';
export { roundMoney as round } from './money'; //! roundMoney
export { default as Purse } from './purse'; //! Purse
