/** Generates the methods `write` and `read` of a codec, according to the kind of type. */
import type { Shape, Type } from "../../../../model/type.js";
import type { MethodBody } from "./body.js";
import { readChoice, writeChoice } from "./choice.js";
import { inPropertyOrder } from "./lockstep-layouts.js";
import { readFields, writeMessage } from "./message.js";
import { readElement } from "./reading.js";
import { readTuple, writeTuple } from "./tuple.js";
import { writeElement } from "./writing.js";

/** The types for which codecs are generated. The target of an alias is composite: an array, a map or a record. */
export type GeneratedType = Exclude<Shape, { kind: "enum" }> | Extract<Type, { kind: "tuple" }>;

export function writeStatements(body: MethodBody, type: GeneratedType): void {
  switch (type.kind) {
    case "message":
      writeMessage(body, inPropertyOrder(type.fields));
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

/** Emits the statements that read a value. The last one is a return statement. */
export function readStatements(body: MethodBody, type: GeneratedType): void {
  switch (type.kind) {
    case "message":
      readFields(body, inPropertyOrder(type.fields));
      return;
    case "union":
    case "oneof":
      readChoice(body, type);
      return;
    case "tuple":
      readTuple(body, type);
      return;
    case "alias":
      body.emitReturn(readElement(body, type.type, body.at, body.hint));
  }
}
