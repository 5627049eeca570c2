/** @internal Thrown where bytes turn out not to be a message, or a value not of its type; a codec makes a CodecError of it. */
export class Malformed extends Error {}
