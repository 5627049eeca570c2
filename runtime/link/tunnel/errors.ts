/** Thrown when the other side of a tunnel could not connect to an address. */
export class ChannelRefusedError extends Error {
  override readonly name = "ChannelRefusedError";
  /** The code of the system's error at the other side, such as `ECONNREFUSED`, or an empty text. */
  readonly code: string;

  constructor(code: string, reason: string) {
    super(reason);
    this.code = code;
  }
}
