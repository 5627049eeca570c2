/** What one of the two says of one unit of a pair of schemas. */

export interface Finding {
  readonly by: "buf" | "viceroy";
  /** `FIELD_SAME_ONEOF`, `VC5001`. */
  readonly rule: string;
  /** A field or a value of an enum (`p.v1.M#3`), a message (`p.v1.M`), an rpc (`p.v1.S.Get`), a service. */
  readonly unit: string;
}
