// The types of schemas/order.ts, without codecs.
import type { UnknownValue, UnknownVariant } from "viceroy/codegen/v1";

export type State = "open" | "paid" | "lost" | UnknownValue;

export interface Item {
  name: string;
  count: number;
  gift: boolean;
}

export type Payment = { kind: "cash"; coins: number } | { kind: "cheque"; number: string } | UnknownVariant<"kind">;

export interface Order {
  id: bigint;
  note?: string;
  /** Goes. */
  discount?: number;
  items: Item[];
  state: State;
  /** Goes. */
  weights: Float64Array;
  urgent: boolean;
  payment: Payment;
  /** Is renamed. */
  who: string;
}
