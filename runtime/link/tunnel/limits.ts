/** The limits of tunnels. Each side uses its own. */

const KiB = 1024;
const MiB = 1024 * KiB;

export interface TunnelLimits {
  /** The number of channels of one tunnel. Further ones are refused. Default: 4,096. */
  readonly channels: number;
  /**
   * The number of bytes that the peer may send on a new channel before this side has taken them. Default: 64 KiB.
   */
  readonly window: number;
  /** The largest window of a channel whose bytes this side takes at once, in bytes. Default: 4 MiB. */
  readonly maxWindow: number;
  /** The number of bytes by which the windows of all channels together may grow. Default: 64 MiB. */
  readonly growth: number;
}

export const defaultTunnelLimits: TunnelLimits = {
  channels: 4096,
  window: 64 * KiB,
  maxWindow: 4 * MiB,
  growth: 64 * MiB,
};
