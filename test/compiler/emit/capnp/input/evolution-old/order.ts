import type { Int32, Uint32, Uint64 } from "viceroy/schema";

export type State = "open" | "paid" | "lost";

export interface Item {
  name: string;
  count: Uint32;
  gift: boolean;
}

export type Payment = { kind: "cash"; coins: Int32 } | { kind: "cheque"; number: string };

export interface Order {
  id: Uint64;
  note?: string;
  /** Goes. */
  discount?: Int32;
  items: Item[];
  state: State;
  /** Goes. */
  weights: Float64Array;
  urgent: boolean;
  payment: Payment;
  /** Is renamed. */
  who: string;
}
