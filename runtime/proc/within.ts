/**
 * Waits for something, but not longer than `ms`. Never rejects, and keeps this process alive meanwhile.
 * @returns whether it has come to pass
 */
export function within(ms: number, what: PromiseLike<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    const done = () => {
      clearTimeout(timer);
      resolve(true);
    };
    what.then(done, done);
  });
}
