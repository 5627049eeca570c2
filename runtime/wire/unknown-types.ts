/**
 * The types of decoded values that the schema of this process does not have, because a process with a newer schema made
 * them. Generated unions, oneofs and enumerations contain them, so that an exhaustive `switch` must handle them. Programs
 * receive and pass on such values, but do not make them.
 */

declare const fromNewerSchema: unique symbol;

/** Marks values that only decoding makes. */
export interface Decoded {
  /** Exists in the type only. */
  readonly [fromNewerSchema]: true;
}

/**
 * A variant of a union that this process does not know: `{ kind: "$unknown" }`. Its members are kept, and are encoded again
 * when the value is passed on.
 */
export type UnknownVariant<Discriminant extends string> = { readonly [K in Discriminant]: "$unknown" } & Decoded;

/** A case of a oneof that this process does not know. Its value is kept, and is encoded again when it is passed on. */
export interface UnknownCase extends Decoded {
  /** The name of every unknown case. */
  readonly case: "$unknown";
  /** The value cannot be read. */
  readonly value: undefined;
}

/** A value of an enumeration of strings that this process does not know, with its protobuf number: `$unknown:7`. */
export type UnknownValue = `$unknown:${number}`;

/** A value of an enumeration of numbers that this process does not know: the number itself. */
export type UnknownNumber = number & Decoded;
