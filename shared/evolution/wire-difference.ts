/** One incompatibility between the schemas of two processes. */

export interface WireDifference {
  /** The code of the rule, as in `viceroy break` and its documentation. */
  readonly code: string;
  /** The name of the rule: `field-type-changed`. */
  readonly rule: string;
  /** The part of the schema that differs: `example.v1.Tree.leaves`. */
  readonly place: string;
  /** The old and the new state, in one line. */
  readonly text: string;
}
