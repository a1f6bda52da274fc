"""What curl -s URL prints: for machines without it."""
import sys
import urllib.request

sys.stdout.write(urllib.request.urlopen(sys.argv[1]).read().decode())
