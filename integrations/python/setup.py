"""What pyproject.toml cannot say: a wheel with libraries in it is for this platform, and for every Python 3."""
import pathlib

from setuptools import Distribution, setup

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70.1
    from wheel.bdist_wheel import bdist_wheel

HAS_LIBRARIES = any((pathlib.Path(__file__).resolve().parent / "jitk").glob("libjitk.so*"))


class Package(Distribution):
    def has_ext_modules(self):
        return HAS_LIBRARIES


class Wheel(bdist_wheel):
    def get_tag(self):
        python, abi, platform = super().get_tag()
        return ("py3", "none", platform) if HAS_LIBRARIES else (python, abi, platform)


setup(distclass=Package, cmdclass={"bdist_wheel": Wheel})
