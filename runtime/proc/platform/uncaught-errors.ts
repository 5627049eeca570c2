/**
 * Errors that nobody has caught, before they end the process. Not by a listener of `uncaughtException`: with one, Node.js
 * would not do with the other errors what it does without, from printing them to telling the thread that made this one.
 */

type UncaughtHandler = (error: unknown) => boolean;

let installedHandler: UncaughtHandler | undefined;

/** Offers each uncaught error to `take`; one that is taken goes no further. Once for each thread. */
export function interceptUncaughtErrors(take: UncaughtHandler): void {
  if (installedHandler !== undefined) return;
  installedHandler = take;
  const { emit } = process;
  process.emit = function (this: NodeJS.Process, event: string | symbol, ...args: unknown[]): boolean {
    if (event === "uncaughtException" && take(args[0])) return true;
    return Reflect.apply(emit, this, [event, ...args]);
  } as typeof process.emit;
}
