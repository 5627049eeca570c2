/** The layouts of well-known types, as numbers. They must match the composed codecs of the runtime. */
import type { WellKnownName } from "../../../../model/well-known.js";

interface LeafLayout {
  readonly slot: number;
  readonly text: boolean;
  readonly bulk: boolean;
}

function leaf(slot: number, text = false, bulk = false): LeafLayout {
  return { slot, text, bulk };
}

export const wellKnownLayouts: Readonly<Record<WellKnownName, LeafLayout>> = {
  Timestamp: leaf(12),
  Duration: leaf(12),
  FieldMask: leaf(1, true),
  Empty: leaf(1),
  Any: leaf(5, true, true),
  Struct: leaf(4, true),
  Value: leaf(1, true),
  ListValue: leaf(1, true),
  NullValue: leaf(1),
  DoubleValue: leaf(8),
  FloatValue: leaf(4),
  Int64Value: leaf(8),
  UInt64Value: leaf(8),
  Int32Value: leaf(4),
  UInt32Value: leaf(4),
  BoolValue: leaf(1),
  StringValue: leaf(1, true),
  BytesValue: leaf(4, false, true),
};
