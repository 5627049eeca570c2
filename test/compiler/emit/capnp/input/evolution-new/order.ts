import type { Int32, Uint32, Uint64 } from "viceroy/schema";

export type State = "open" | "paid" | "sent";

export interface Item {
  name: string;
  count: Uint32;
  gift: boolean;
  price?: number;
  tags: string[];
  fragile: boolean;
}

export type Payment =
  | { kind: "cash"; coins: Int32 }
  | { kind: "card"; digits: string }
  | { kind: "cheque"; number: string; bank?: string };

export interface Order {
  id: Uint64;
  note?: string;
  items: Item[];
  state: State;
  urgent: boolean;
  payment: Payment;
  /** @was who */
  customer: string;
  created?: Date;
  total: Uint32;
  parts: Item[];
}
