/**
 * Stops the encoding of a value that is refused. It contains neither the place nor, in most cases, the reason: writing a value
 * keeps no path, and `explainRefusal` finds both afterwards.
 */
export class PlainRefusal extends Error {
  override readonly name: string = "PlainRefusal";
  /** What was found, if the whole value is refused and not one place in it: `more than 2147483640 bytes`. */
  readonly got: string | undefined;

  constructor(got?: string) {
    super(got);
    this.got = got;
  }
}
