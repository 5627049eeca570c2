import type { Actor, Int32, Oneof, Port, Uint64 } from "viceroy/schema";
import type * as file from "./order.js";

/** An order, which has the namespace below. */
export interface Order {
  id: Uint64;
  lines: Order.Line[];
  status: Order.Status;
  mode: Order.Mode;
  history: Map<string, Order.Status>;
  page?: Order.Page<Order.Line>;
  note: { text: string };
}

/** Hidden in the namespace by the line of an order. */
export interface Line {
  from: Int32;
  to: Int32;
}

export interface Page<T> {
  only: T;
}

/** Not part of anything. */
export declare namespace Order {
  /** A line. */
  export interface Line {
    /** What it is. */
    sku: string;
    count: Int32;
    size: { width: Int32; height: Int32 };
    parent?: Order;
    tax: Line.Tax;
    drawn?: file.Line;
    pages?: file.Page<file.Line>;
  }

  export type Status = "open" | "closed";

  /** How fast. */
  export enum Mode {
    /** By air. */
    Fast = 1,
    Slow = 2,
  }

  export interface Page<T> {
    items: readonly T[];
    order: "up" | "down";
    next?: { token: string };
  }

  export type Payment = { kind: "card"; number: string } | { kind: "cash"; given: Wallet.Purse };
  export type Key = Oneof<{ id: Uint64; line: Line }>;
  export type Lines = Line[];
}

/** More of it, in another block. */
export declare namespace Order.Line {
  export interface Tax {
    rate: number;
    level: Level;
    of?: Line;
    all?: Order;
  }

  export enum Level {
    Low = 0,
    High = 1,
  }
}

/** An enum that has a namespace. */
export declare enum State {
  On = 1,
  Off = 2,
}

export declare namespace State {
  export interface Reason {
    why: string;
    cause: Cause;
    level: Order.Line.Level;
  }

  export enum Cause {
    Weather = 1,
    Strike = 2,
  }
}

/** Names that Viceroy and the language have too. */
export declare namespace Detail {
  interface Map {
    date: Date;
    when: When;
    codec: Codec;
  }
  interface Date {
    day: Int32;
  }
  interface Codec {
    name: string;
  }
  type Reader = { kind: "a"; reader?: Reader } | { kind: "b" };
}

type When = Date;

/** What is not exported is part of the file alone. */
export namespace Wallet {
  export interface Purse {
    coins: Coin[];
  }
  interface Coin {
    cents: Uint64;
  }
}

export interface Shop extends Actor<[first: Order.Line]> {
  place(order: Order, line: Order.Line, status?: Order.Status): Order.Line | null;
  pay(how: Order.Payment, mode: { deep: Order.Mode }): Shop.Receipt;
  watch(to: Port<Order.Page<Shop.Receipt>>): void;
}

/** What a shop answers. */
export namespace Shop {
  export interface Receipt {
    at: Date;
    cause: State.Cause;
    details: Detail.Map;
  }
}
