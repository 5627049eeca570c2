/** The options of `JobContext.placementGroup`. */
import type { PlacementStrategy } from "./plan-bundles.js";

/** The options of `JobContext.placementGroup`. */
export interface PlacementOptions {
  /**
   * `"pack"` uses as few hosts as possible, `"spread"` as many as possible, `"strictPack"` one host, and `"strictSpread"`
   * a host for each bundle. Default: `"pack"`.
   */
  readonly strategy?: PlacementStrategy;
  /** The longest time to wait for resources, in milliseconds. Default: 60,000. */
  readonly timeout?: number;
}
