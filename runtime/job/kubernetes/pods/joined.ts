/** Joins questions that are asked often: while one is under way, all who ask share the next one. */

/**
 * Returns a function that asks, with at most one question under way. Each answer belongs to a question that began after the call, so it is never
 * older than what the caller has seen.
 */
export function joined<T>(ask: () => Promise<T>): () => Promise<T> {
  let current: Promise<unknown> | undefined;
  let next: Promise<T> | undefined;
  const start = (): Promise<T> => {
    const asked = ask();
    const ended = asked.then(
      () => {},
      () => {},
    );
    current = ended;
    void ended.then(() => {
      if (current === ended) current = undefined;
    });
    return asked;
  };
  return () => {
    if (current === undefined) return start();
    next ??= current.then(() => {
      next = undefined;
      return start();
    });
    return next;
  };
}
