#!/bin/sh
# debian.sh SOURCE WORK: cpack makes three packages. They pass lintian, where it is installed, and are installed into a
# folder, used and removed.
set -eu
source=$1 work=$2/debian
. "$source/tests/packaging/common.sh"
for command in dpkg dpkg-shlibdeps file pkg-config; do
    command -v $command >/dev/null || exit 77
done

build_topk "$2/usr"
rm -rf "$work" "$2/usr"/*.deb
mkdir -p "$work/bin" "$work/root/var/lib/dpkg/info" "$work/root/var/lib/dpkg/updates"
: >"$work/root/var/lib/dpkg/status"
"$CMAKE" --build "$2/usr" --target package
mv "$2/usr"/*.deb "$work"
version=$(sed -n 's/^project(topk VERSION \([0-9.]*\) .*/\1/p' "$source/CMakeLists.txt")
library=libtopk${version%.*}
suffix=_${version}_$(dpkg --print-architecture).deb
test "$(cd "$work" && echo *.deb)" = "libtopk-dev$suffix $library$suffix topk$suffix"

# field PACKAGE FIELD: of the control file.
field() {
    dpkg-deb -f "$work/$1$suffix" "$2"
}
for package in $library libtopk-dev topk; do
    test "$(field $package Package)_$(field $package Version)_$(field $package Architecture).deb" = \
        "$package$suffix"
    test -n "$(field $package Maintainer)" && test -n "$(field $package Description)"
done
test "$(field $library Section) $(field libtopk-dev Section) $(field topk Section)" = 'libs libdevel utils'
field $library Depends | grep -q 'libc6 (>= '
test "$(field libtopk-dev Depends)" = "$library (= $version)"
field topk Depends | grep -q "$library (>= $version)"
field topk Depends | grep -q 'libc6 (>= '
test "$(dpkg-deb -I "$work/$library$suffix" shlibs)" = "libtopk ${version%.*} $library (>= $version)"
# What lintian has to say is mended, or has a reason in cmake/debian/overrides.in.
if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error,warning "$work"/*.deb
fi

# Scripts of packages run outside of the root, so they need another ldconfig than the machine's. A machine may
# be set up to install no documents.
printf '#!/bin/sh\necho "$*" >>"%s"\n' "$work/ldconfig.log" >"$work/bin/ldconfig"
chmod +x "$work/bin/ldconfig"
dpkg_root() {
    PATH=$work/bin:$PATH:/usr/sbin:/sbin dpkg --root="$work/root" --log="$work/log" --path-include='*' \
        --force-not-root --force-depends --force-script-chrootless "$@"
}
dpkg_root -i "$work"/*.deb
test "$(wc -l <"$work/ldconfig.log")" = 1
usr=$work/root/usr
libdir=$usr/lib/$("$CC" -print-multiarch)
test "$(readlink "$libdir/libtopk.so.${version%.*}")" = "libtopk.so.$version"
for package in $library libtopk-dev topk; do
    test -s "$usr/share/doc/$package/copyright"
    zcat "$usr/share/doc/$package/changelog.gz" | grep -q "^topk ($version) "
done
test -s "$usr/share/doc/topk/README.md"
python3 "$source/tests/tree/links.py" "$usr/share/doc/topk" 100
zcat "$usr/share/man/man1/topk.1.gz" | cmp - "$source/cli/topk.1"
zcat "$usr/share/man/man5/topk-formats.5.gz" | cmp - "$source/cli/topk-formats.5"
fail_if grep -q RUNPATH <<END
$(readelf -d "$usr/bin/topk")
END

LD_LIBRARY_PATH=$libdir
PKG_CONFIG_LIBDIR=$libdir/pkgconfig
PKG_CONFIG_SYSROOT_DIR=$work/root
export LD_LIBRARY_PATH PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR
printf '3\n1\n2\n' | "$usr/bin/topk" select - -k 1 | grep -qx '0	3'
run_by_pkg_config "$work/pkg_config"
run_by_cmake "$work/find_package" -DCMAKE_PREFIX_PATH="$usr"

# The tool needs no more than the library.
dpkg_root -r libtopk-dev
test ! -e "$usr/include" && test ! -e "$libdir/libtopk.so"
printf '3\n1\n2\n' | "$usr/bin/topk" select - -k 1 | grep -qx '0	3'
dpkg_root -P $library libtopk-dev topk
test "$(wc -l <"$work/ldconfig.log")" = 2
test ! -e "$usr"
