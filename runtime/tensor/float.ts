/** A number that counts as a floating-point number even if it is an integer. {@link float} makes it. */
export class Float {
  /** The number. */
  readonly float: number;

  /**
   * Called by {@link float}.
   *
   * @param value any number
   */
  constructor(value: number) {
    this.float = value;
  }
}

/**
 * Marks a number as a floating-point number. JavaScript does not distinguish 2 from 2.0, but operations on integer
 * tensors do: `t.mul(2)` is a tensor of integers, `t.mul(float(2))` one of floating-point numbers.
 *
 * @param value any number
 */
export function float(value: number): Float {
  return new Float(value);
}
