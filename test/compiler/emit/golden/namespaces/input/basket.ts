import type { Order } from "./order.js";
import type * as shop from "./order.js";

export interface Basket {
  line: Order.Line;
  same: shop.Order.Line;
  status: shop.Order.Status;
  mode: import("./order.js").Order.Mode;
  level: shop.Order.Line.Level;
  pages?: Order.Page<Basket>;
  lines?: Order.Lines;
  reason: shop.State.Reason;
  outer: Line;
}

export namespace Basket {
  export interface Line {
    of: Order.Line;
    page?: Order.Page<Line>;
  }
}

export interface Line {
  basket?: Basket.Line;
}
