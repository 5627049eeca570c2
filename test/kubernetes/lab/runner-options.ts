/** The options of Node.js that the test runner has given this process. */

/** Drops them: processes of actors get the options of this process, and pods of the cluster do not have the files of the runner. */
export function dropOptionsOfRunner(): void {
  const isOfRunner = (option: string | undefined) => option?.includes("/vitest/") === true;
  process.execArgv = process.execArgv.filter(
    (option, index, all) => !isOfRunner(option) && !(option === "--require" && isOfRunner(all[index + 1])),
  );
}
