/** How a transfer of a queue pair ended, by the numbers of `ibv_wc_status`: what follows from them, for those that come. */

export const completionStatus = {
  success: 0,
  /** The queue pair broke before it was its turn, or while it was. */
  flushed: 5,
  remoteInvalidRequest: 9,
  /** The key, the range or the right is not what the owner's device knows. */
  remoteAccess: 10,
  remoteOperation: 11,
  /** Sent again and again, and never answered. */
  retriesExceeded: 12,
  receiverNotReady: 13,
} as const;

/** Of a transfer that could not even be posted. */
export const notPosted = -1;

/** The owner's device has refused it. */
export function isRefused(code: number): boolean {
  return (
    code === completionStatus.remoteAccess ||
    code === completionStatus.remoteInvalidRequest ||
    code === completionStatus.remoteOperation
  );
}

/** The queue pair is of no use any more, which says nothing about this transfer. */
export function isFlushed(code: number): boolean {
  return code === completionStatus.flushed || code === notPosted;
}

/** The other side did not answer. */
export function isUnanswered(code: number): boolean {
  return code === completionStatus.retriesExceeded || code === completionStatus.receiverNotReady;
}
