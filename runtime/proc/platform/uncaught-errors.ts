/**
 * Intercepts uncaught errors before they end the process. It does not listen to `uncaughtException`: such a listener
 * would replace Node.js's default handling of all other errors, which prints them and reports them to the parent
 * thread.
 */

type UncaughtHandler = (error: unknown) => boolean;

let installedHandler: UncaughtHandler | undefined;

/** Passes each uncaught error to `take`, and suppresses it if `take` returns true. Takes effect once per thread. */
export function interceptUncaughtErrors(take: UncaughtHandler): void {
  if (installedHandler !== undefined) return;
  installedHandler = take;
  const { emit } = process;
  process.emit = function (this: NodeJS.Process, event: string | symbol, ...args: unknown[]): boolean {
    if (event === "uncaughtException" && take(args[0])) return true;
    return Reflect.apply(emit, this, [event, ...args]);
  } as typeof process.emit;
}
