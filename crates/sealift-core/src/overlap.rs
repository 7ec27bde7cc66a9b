use std::ops::Range;

/// A stretch of memory that a call reads or writes, by address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// First address and the one after the last.
    pub addresses: Range<usize>,
    /// What it holds, for the error message: `out[3]`.
    pub name: String,
}

/// Finds an output that overlaps another output or an input.
///
/// In Rust the borrow checker answers this; the fronts of other languages ask here before they
/// make slices. Inputs may overlap each other, and empty regions overlap nothing.
#[must_use]
pub fn find_overlap(outputs: &[Region], inputs: &[Region]) -> Option<(Region, Region)> {
    let mut all: Vec<(&Region, bool)> = outputs.iter().map(|region| (region, true)).collect();
    all.extend(inputs.iter().map(|region| (region, false)));
    all.retain(|(region, _)| !region.addresses.is_empty());
    all.sort_by_key(|(region, _)| region.addresses.start);

    let mut furthest: Option<&Region> = None;
    let mut furthest_output: Option<&Region> = None;
    for (region, is_output) in all {
        let rival = if is_output { furthest } else { furthest_output };
        if let Some(rival) = rival.filter(|rival| rival.addresses.end > region.addresses.start) {
            return Some((rival.clone(), region.clone()));
        }
        furthest = further(furthest, region);
        if is_output {
            furthest_output = further(furthest_output, region);
        }
    }
    None
}

fn further<'a>(known: Option<&'a Region>, region: &'a Region) -> Option<&'a Region> {
    match known {
        Some(known) if known.addresses.end >= region.addresses.end => Some(known),
        _ => Some(region),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regions(ranges: &[(usize, usize)]) -> Vec<Region> {
        let region = |&(start, end)| Region { addresses: start..end, name: String::new() };
        ranges.iter().map(region).collect()
    }

    #[test]
    fn outputs_may_touch_but_not_overlap() {
        let inputs = regions(&[(20, 30), (25, 40)]);
        assert_eq!(find_overlap(&regions(&[(0, 10), (10, 20)]), &inputs), None);
        assert!(find_overlap(&regions(&[(0, 10), (9, 20)]), &[]).is_some());
        assert!(find_overlap(&regions(&[(5, 6)]), &regions(&[(0, 10)])).is_some());
        assert!(find_overlap(&regions(&[(0, 10)]), &regions(&[(5, 5), (9, 12)])).is_some());
    }

    #[test]
    fn inputs_may_overlap_each_other_and_hide_no_output() {
        let inputs = regions(&[(0, 100), (10, 20)]);
        assert_eq!(find_overlap(&regions(&[(100, 110)]), &inputs), None);
        assert!(find_overlap(&regions(&[(50, 60)]), &inputs).is_some());
    }

    #[test]
    fn every_pair_of_small_regions_is_judged_right() {
        for n in 0..1_296 {
            let (one, two) = ((n % 6, n / 6 % 6), (n / 36 % 6, n / 216));
            let share =
                (0..6).any(|at| (one.0..one.1).contains(&at) && (two.0..two.1).contains(&at));
            assert_eq!(find_overlap(&regions(&[one]), &regions(&[two])).is_some(), share);
            assert_eq!(find_overlap(&regions(&[one, two]), &[]).is_some(), share);
        }
    }
}
