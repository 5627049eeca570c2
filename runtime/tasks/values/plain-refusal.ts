/** Stops the encoding of a value that is refused. */
import type { PlainFault } from "./plain-value-error.js";

/**
 * Thrown by the writer, which keeps no path: `explainRefusal` finds the place and the reason afterwards. Contains a fault if the
 * whole value is refused and not one place in it.
 */
export class PlainRefusal extends Error {
  override readonly name: string = "PlainRefusal";
  readonly fault: PlainFault | undefined;

  constructor(fault?: PlainFault) {
    super(fault?.got);
    this.fault = fault;
  }
}
