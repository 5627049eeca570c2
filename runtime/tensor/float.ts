/** A number that is no integer, although it has no fraction. */
export class Float {
  /** The addon reads this name. */
  readonly float: number;

  constructor(value: number) {
    this.float = value;
  }
}

/**
 * JavaScript does not tell 2 from 2.0, and for tensors of integers that makes a difference: `t.mul(2)` has integers, `t.mul(float(2))` has
 * floating-point numbers. For tensors that have such numbers already it makes none.
 */
export function float(value: number): Float {
  return new Float(value);
}
