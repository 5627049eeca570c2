/** The interface by which the codec of plain values handles references to results. It knows neither their class nor their bytes. */

/** Recognises references in values that are encoded. */
export interface RefWriter {
  /** Returns whether an object, which is none of the built-in classes, is a reference. */
  isRef(value: object): boolean;
  /** Encodes a reference. */
  write(ref: object): Uint8Array;
}

/** Makes references in values that are decoded. */
export interface RefReader {
  /**
   * Decodes a reference. Throws if the bytes are none.
   *
   * @param bytes what `write` returned; valid during the call only
   */
  read(bytes: Uint8Array): unknown;
}
