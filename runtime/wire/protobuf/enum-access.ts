/** Gives readers and writers access to the numbers of an enum. They cannot import codecs, which import them. */

/** The part of an enum's form that converts numbers. */
export interface EnumAccess<T> {
  /** @throws {CodecRefusal} when the value is not one of the enum */
  numberOf(value: T): number;
  valueOf(number: number): T;
}

/** Returns the numbers of an enum; undefined for a codec of something else. */
export function enumAccessOf<T>(codec: object): EnumAccess<T> | undefined {
  const { protoForm } = codec as { readonly protoForm?: EnumAccess<T> & { readonly kind: string } };
  return protoForm?.kind === "enum" ? protoForm : undefined;
}
