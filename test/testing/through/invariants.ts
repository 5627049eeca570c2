/** The invariants of simulated drivers whose gateways are lost, with patterns of the errors that report a violation. */
export const invariants = {
  /** No message is handled twice. */
  once: / came twice/,
  /** No message is lost, and none overtakes another one. */
  "no gaps": / is missing/,
  order: / came after /,
  /** The driver keeps its hosts while a gateway comes back within the absence. */
  kept: /, and a gateway was there: /,
  /** Every call ends. */
  "calls end": / calls have never ended|has not ended within|no task is left/,
  /** After the absence, the driver is told that its hosts are gone, neither earlier nor much later. */
  "in time": /, and the absence is /,
  /** The processes of a driver that was away for longer end, and nothing is left after its end. */
  "nothing is left": / processes are left /,
} as const satisfies Record<string, RegExp>;

export type Invariant = keyof typeof invariants;
