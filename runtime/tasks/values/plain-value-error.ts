/** The error of values that plain tasks can neither take nor return, and the place of a value in its message. */

/** The value that is encoded, for messages: an argument of a task, the result of a task, or the value of `put`. */
export type PlainPlace =
  | {
      readonly kind: "argument";
      /** The name of the task. */
      readonly task: string;
      /** The index of the argument, from 0. */
      readonly index: number;
    }
  | {
      readonly kind: "result";
      /** The name of the task. */
      readonly task: string;
    }
  | { readonly kind: "put" };

/** The place of the value of `put`. */
export const putPlace: PlainPlace = { kind: "put" };

/** The description of a value that cannot be encoded, with advice. */
export interface PlainFault {
  /** The path in the value, as a JavaScript expression: `.items[3].callback`. Empty: the value itself. */
  readonly path: string;
  /** The value that was found there: `a function`. */
  readonly got: string;
  /** Advice: `pass data instead`. */
  readonly hint: string;
}

/** The fault of a value in which nothing is wrong any more. */
export const changedFault: PlainFault = {
  path: "",
  got: "an object that changed while it was encoded",
  hint: "encode it when nothing changes it",
};

const expected =
  "a plain value (null, undefined, a boolean, number, bigint, string, Date, ArrayBuffer, DataView, typed array or ObjectRef, " +
  "or an array, plain object, Map or Set of plain values)";

/**
 * Thrown when an argument or a result of a task without a schema is not a plain value: `cannot run square: argument 1 at
 * .items[3].callback: expected a plain value (…), got a function; pass data instead, or declare the task in a schema`.
 */
export class PlainValueError extends TypeError {
  override readonly name: string = "PlainValueError";
  /** The path in the argument or result, as a JavaScript expression: `.items[3].callback`. Empty: the whole value. */
  readonly path: string;

  /**
   * Called by the runtime.
   *
   * @param place the argument or result
   * @param fault what is wrong with it
   */
  constructor(place: PlainPlace, fault: PlainFault) {
    const at = fault.path === "" ? "" : ` at ${fault.path}`;
    super(`${textOf(place)}${at}: expected ${expected}, got ${fault.got}; ${fault.hint}`);
    this.path = fault.path;
  }
}

function textOf(place: PlainPlace): string {
  switch (place.kind) {
    case "argument":
      return `cannot run ${place.task}: argument ${place.index + 1}`;
    case "result":
      return `cannot return from ${place.task}: the result`;
    case "put":
      return "cannot put: the value";
  }
}
