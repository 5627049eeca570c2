/** Shapes: extents, points, regions, and values with a shape. Pure; the rest of the runtime imports from here. */
export { checkRegion } from "./check.js";
export {
  type Coordinates,
  checkDimension,
  checkExtent,
  type Extent,
  extentSize,
  formatExtent,
  formatValue,
  joinExtents,
  sameExtent,
} from "./extent.js";
export { checkOptionNames } from "./options.js";
export { Point, points } from "./point.js";
export { Range, range } from "./range.js";
export {
  baseRank,
  baseRanks,
  isDense,
  type Region,
  rankOfBase,
  regionExtent,
  regionSize,
  sameRegion,
  wholeRegion,
} from "./region.js";
export { flattenRegion, renameRegion, splitRegion } from "./reshape.js";
export type { Run } from "./runs.js";
export { placeIn, rankAt, sliceRegion } from "./slice.js";
export { cellText, regionTable } from "./table.js";
export type {
  Only,
  PointFor,
  Renamed,
  RenameSpec,
  Sliced,
  SliceSpec,
  Split,
  SplitNames,
  SplitSizes,
  SplitSpec,
} from "./types.js";
export { ValueMesh } from "./value-mesh.js";
