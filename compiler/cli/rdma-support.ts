/** Asks the built runtime which RDMA transports this machine supports. */
import { createRequire } from "node:module";

export interface RdmaSupport {
  readonly addon?: string;
  readonly why?: string;
  readonly ptraceScope: number;
  readonly transports: readonly { readonly transport: string; readonly oneSided: boolean; readonly why?: string }[];
  readonly links: string;
}

export function rdmaSupport(): RdmaSupport {
  // The compiler never imports the runtime. The built runtime is in the same package as the command line.
  const runtime = createRequire(import.meta.url)("../load.cjs") as {
    load(): { readonly rdma: { rdmaSupport(): RdmaSupport } };
  };
  return runtime.load().rdma.rdmaSupport();
}
