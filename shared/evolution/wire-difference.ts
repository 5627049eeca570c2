/** What stands between two schemas whose processes want to talk. */

export interface WireDifference {
  /** The code of the rule, as `viceroy break` and its documentation have it. */
  readonly code: string;
  /** The rule in words: `field-type-changed`. */
  readonly rule: string;
  /** `example.v1.Tree.leaves`. */
  readonly place: string;
  /** What was and what is, in one line. */
  readonly text: string;
}
