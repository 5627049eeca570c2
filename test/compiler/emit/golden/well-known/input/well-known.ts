import type {
  Actor,
  Any,
  BoolValue,
  BytesValue,
  DoubleValue,
  Duration,
  Empty,
  FieldMask,
  FloatValue,
  Int32Value,
  Int64Value,
  ListValue,
  NullValue,
  Oneof,
  Stream,
  StringValue,
  Struct,
  Timestamp,
  UInt32Value,
  UInt64Value,
  Value,
} from "viceroy/schema";

/** Each of them as a member. */
export interface WellKnown {
  timestamp: Timestamp;
  duration: Duration;
  mask: FieldMask;
  empty: Empty;
  any: Any;
  struct: Struct;
  value: Value;
  list: ListValue;
  nothing: NullValue;
  double: DoubleValue;
  float: FloatValue;
  int64: Int64Value;
  uint64: UInt64Value;
  int32: Int32Value;
  uint32: UInt32Value;
  bool: BoolValue;
  text: StringValue;
  bytes: BytesValue;
}

/** And where other types stand. */
export interface Places {
  maybe?: Timestamp;
  orNull: Duration | null;
  both?: StringValue | null;
  maybeNothing?: NullValue;
  many: Timestamp[];
  values: Value[];
  nothings: NullValue[];
  byName: Map<string, Any>;
  record: Record<string, Struct>;
  pair: [Timestamp, Duration?];
  chosen: Oneof<{ /** @id 20 */ at: Timestamp; /** @id 21 */ value: Value; /** @id 22 */ nothing: NullValue }>;
  apart: Choice;
  named: Moment;
}

export type Choice = Oneof<{ mask: FieldMask; number: Int32Value }>;
export type Moment = Timestamp;
export type Moments = Moment[];

export interface Clock extends Actor<[start: Timestamp, step?: Duration]> {
  now(): Timestamp;
  set(to: Timestamp | null, mask: FieldMask): Empty;
  ticks(every: Duration): Stream<Timestamp>;
  ask(question: Value): Value;
}
