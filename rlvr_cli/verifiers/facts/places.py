"""Countries and states that people write behind a place: ``Paris, France`` names one place, not two candidates."""

_NAMES = """
afghanistan|albania|algeria|argentina|armenia|australia|austria|azerbaijan|bangladesh|belarus|belgium|bolivia|bosnia
botswana|brazil|bulgaria|cambodia|cameroon|canada|chad|chile|china|colombia|congo|costa rica|croatia|cuba|cyprus
czech republic|czechia|denmark|dominican republic|ecuador|egypt|el salvador|england|eritrea|estonia|ethiopia|finland
france|georgia|germany|ghana|greece|guatemala|haiti|honduras|hungary|iceland|india|indonesia|iran|iraq|ireland|israel
italy|ivory coast|jamaica|japan|jordan|kazakhstan|kenya|kosovo|kuwait|laos|latvia|lebanon|liberia|libya|lithuania
luxembourg|madagascar|malaysia|mali|malta|mexico|moldova|mongolia|montenegro|morocco|mozambique|myanmar|namibia|nepal
netherlands|new zealand|nicaragua|niger|nigeria|north korea|north macedonia|northern ireland|norway|oman|pakistan
palestine|panama|paraguay|peru|philippines|poland|portugal|qatar|romania|russia|rwanda|saudi arabia|scotland|senegal
serbia|singapore|slovakia|slovenia|somalia|south africa|south korea|spain|sri lanka|sudan|sweden|switzerland|syria
taiwan|tanzania|thailand|tunisia|turkey|uganda|ukraine|united arab emirates|uae|united kingdom|uk|united states
united states of america|us|usa|uruguay|uzbekistan|venezuela|vietnam|wales|yemen|zambia|zimbabwe|alabama|alaska
arizona|arkansas|california|colorado|connecticut|delaware|florida|hawaii|idaho|illinois|indiana|iowa|kansas|kentucky
louisiana|maine|maryland|massachusetts|michigan|minnesota|mississippi|missouri|montana|nebraska|nevada|new hampshire
new jersey|new mexico|new york|north carolina|north dakota|ohio|oklahoma|oregon|pennsylvania|rhode island
south carolina|south dakota|tennessee|texas|utah|vermont|virginia|washington|west virginia|wisconsin|wyoming|ontario
quebec|british columbia|new south wales|queensland|victoria|bavaria
"""
REGIONS = frozenset(name for line in _NAMES.split("\n") for name in line.split("|") if name)
