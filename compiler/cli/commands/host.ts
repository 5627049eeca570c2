/**
 * `viceroy host`: runs the daemon of a host in this process until the process is ended or the host is shut down. This
 * file parses the options. The runtime implements the daemon.
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
  readonly print?: boolean;
  readonly lifeline?: boolean;
  readonly idle?: string;
  readonly spares?: string;
  readonly issuer?: string;
  readonly identity?: string;
  readonly secretFile?: string;
}

/** The part of the built runtime that this command calls. */
interface HostRuntime {
  readonly daemon: {
    /**
     * Runs the daemon and resolves with the exit code.
     * @throws TypeError, Error if an option or the address is invalid
     */
    runHost(options: HostCommandOptions, io: Io): Promise<number>;
  };
}

export async function host(options: HostCommandOptions, io: Io): Promise<number> {
  // The compiler never imports the runtime. The built runtime is in the same package as this file.
  const { load } = createRequire(import.meta.url)("../load.cjs") as { load(): HostRuntime };
  try {
    return await load().daemon.runHost(options, io);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    io.err(error.message);
    return exitCode.usage;
  }
}
