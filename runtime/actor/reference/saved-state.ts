/** The saved state of an actor: what a checkpoint of it contains. */
export interface SavedState {
  /** The key of the actor interface. */
  readonly actor: string;
  /** The id of the actor interface from the lock file. */
  readonly actorId: number;
  readonly mesh: string;
  readonly rank: number;
  readonly at: Date;
  /** The fingerprint of the type of the state. */
  readonly fingerprint: bigint;
  /** The description of the type of the state as JSON. */
  readonly schema: string;
  /** The state in the protobuf layout. */
  readonly state: Uint8Array;
}
