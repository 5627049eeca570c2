/** Takes a launch back when this program is interrupted: nothing costs money afterwards. */

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Runs something. If a signal ends this program meanwhile, `undo` is awaited before.
 * @param undo told of the signal
 */
export async function undoneWhenInterrupted<T>(
  run: () => Promise<T>,
  undo: (signal: string) => Promise<void>,
): Promise<T> {
  const stops = signals.map((signal) => {
    const stop = () => {
      // A second signal ends this program at once.
      void undo(signal).finally(() => process.kill(process.pid, signal));
    };
    process.once(signal, stop);
    return () => process.removeListener(signal, stop);
  });
  try {
    return await run();
  } finally {
    for (const stop of stops) stop();
  }
}
