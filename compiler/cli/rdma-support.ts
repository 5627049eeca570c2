/** What the built runtime says of one-sided memory on this machine. */
import { createRequire } from "node:module";

export interface RdmaSupport {
  readonly addon?: string;
  readonly why?: string;
  readonly ptraceScope: number;
  readonly transports: readonly { readonly transport: string; readonly oneSided: boolean; readonly why?: string }[];
  readonly links: string;
}

export function rdmaSupport(): RdmaSupport {
  // The compiler never imports the runtime: what was built of it stands beside the command line.
  const runtime = createRequire(import.meta.url)("../load.cjs") as {
    load(): { readonly rdma: { rdmaSupport(): RdmaSupport } };
  };
  return runtime.load().rdma.rdmaSupport();
}
