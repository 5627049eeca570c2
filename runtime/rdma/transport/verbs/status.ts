/** The completion statuses of transfers: the values of `ibv_wc_status` that occur, and their meanings. */

export const completionStatus = {
  success: 0,
  /** The queue pair broke before or during the transfer. */
  flushed: 5,
  remoteInvalidRequest: 9,
  /** The owner's device does not accept the key, the range or the access right. */
  remoteAccess: 10,
  remoteOperation: 11,
  /** All retries were sent, and none was acknowledged. */
  retriesExceeded: 12,
  receiverNotReady: 13,
} as const;

/** The status of a transfer that could not be posted. */
export const notPosted = -1;

/** Returns whether the owner's device has refused the transfer. */
export function isRefused(code: number): boolean {
  return (
    code === completionStatus.remoteAccess ||
    code === completionStatus.remoteInvalidRequest ||
    code === completionStatus.remoteOperation
  );
}

/** Returns whether the queue pair was broken, so that the status does not describe this transfer. */
export function isFlushed(code: number): boolean {
  return code === completionStatus.flushed || code === notPosted;
}

/** Returns whether the peer did not answer. */
export function isUnanswered(code: number): boolean {
  return code === completionStatus.retriesExceeded || code === completionStatus.receiverNotReady;
}
