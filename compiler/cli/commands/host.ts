/**
 * `viceroy host`: runs the daemon of a host in this process, until it is ended or shut down. What it does is the runtime's
 * business; here its options are read.
 */
import { createRequire } from "node:module";
import { exitCode, type Io } from "../io.js";

export interface HostCommandOptions {
  readonly listen: readonly string[];
  readonly tokenFile?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly ca?: string;
  readonly insecure?: boolean;
  readonly singlePort?: boolean;
}

/** What the built runtime has for this command. */
interface HostRuntime {
  readonly daemon: {
    /** Resolves with the exit code. @throws TypeError, Error that say what is wrong with the options or the address */
    runHost(options: HostCommandOptions, io: Io): Promise<number>;
  };
}

export async function host(options: HostCommandOptions, io: Io): Promise<number> {
  // The compiler never imports the runtime: what was built of it stands beside this file.
  const { load } = createRequire(import.meta.url)("../load.cjs") as { load(): HostRuntime };
  try {
    return await load().daemon.runHost(options, io);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    io.err(error.message);
    return exitCode.usage;
  }
}
