/** The methods `write` and `read` of a generated codec, by the kind of type that it is for. */
import type { Shape, Type } from "../../../model/type.js";
import type { Body } from "./body.js";
import { readChoice, writeChoice } from "./choice.js";
import { inOrder } from "./layout.js";
import { readFields, writeMessage } from "./message.js";
import { readElement } from "./reading.js";
import { readTuple, writeTuple } from "./tuple.js";
import { writeElement } from "./writing.js";

/** What codecs are generated for. An alias is of something composite: an array, a map, a record. */
export type Generated = Exclude<Shape, { kind: "enum" }> | Extract<Type, { kind: "tuple" }>;

export function writeStatements(body: Body, type: Generated): void {
  switch (type.kind) {
    case "message":
      writeMessage(body, inOrder(type.fields));
      return;
    case "union":
    case "oneof":
      writeChoice(body, type);
      return;
    case "tuple":
      writeTuple(body, type);
      return;
    case "alias":
      writeElement(body, type.type, body.at, body.value, body.hint);
  }
}

/** Ends with a return. */
export function readStatements(body: Body, type: Generated): void {
  switch (type.kind) {
    case "message":
      readFields(body, inOrder(type.fields), body.type);
      return;
    case "union":
    case "oneof":
      readChoice(body, type);
      return;
    case "tuple":
      readTuple(body, type);
      return;
    case "alias":
      body.leave(readElement(body, type.type, body.at, body.hint));
  }
}
