// The types of schemas/order.ts, without codecs.
import type { UnknownValue, UnknownVariant } from "viceroy/codegen/v1";

export type State = "open" | "paid" | "sent" | UnknownValue;

export interface Item {
  name: string;
  count: number;
  gift: boolean;
  price?: number;
  tags: string[];
  fragile: boolean;
}

export type Payment =
  | { kind: "cash"; coins: number }
  | { kind: "card"; digits: string }
  | { kind: "cheque"; number: string; bank?: string }
  | UnknownVariant<"kind">;

export interface Order {
  id: bigint;
  note?: string;
  items: Item[];
  state: State;
  urgent: boolean;
  payment: Payment;
  customer: string;
  created?: Date;
  total: number;
  parts: Item[];
}
